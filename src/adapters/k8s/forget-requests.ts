export { askToForget, type AskToForgetOptions, forgetAnswerMs } from './forget-requests/ask.js'
export { type ForgetAnswer, forgetRequestsName } from './forget-requests/request.js'
export {
  lookForRequestsMs,
  serveForgetRequests,
  type ServeForgetRequestsOptions,
} from './forget-requests/serve.js'
