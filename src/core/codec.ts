export { checkSpec, decodeEdgeRoute } from './codec/decode.js'
export type { Decoded, DecodeOptions, Errors } from './codec/decode.js'
export { compileRoute } from './compile.js'
