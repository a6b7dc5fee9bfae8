export {
  type FollowOptions,
  type InformerHandlers,
  type InformerOptions,
  type InformerTrouble,
  type RunningInformer,
  startInformer,
} from './informer.js'
export {
  edgeRoutes,
  endpointSlices,
  inNameOrder,
  type Kind,
  pathOf,
  pods,
  services,
  showPlace,
} from './kinds.js'
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
