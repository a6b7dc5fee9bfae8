export { withRequestParts as withRequests } from '../../../src/testing/arbitraries/requests.js'
