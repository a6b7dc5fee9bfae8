export {
  type FollowOptions,
  type InformerHandlers,
  type InformerOptions,
  type InformerTrouble,
  type RunningInformer,
  startInformer,
} from './informer.js'
export { edgeRoutes, endpointSlices, type Kind, pathOf, pods, services } from './kinds.js'
export {
  type Change,
  isList,
  isObject,
  type JsonObject,
  objectIn,
  type Project,
  type Reflected,
  type Selecting,
  textIn,
} from '../reflector/index.js'
