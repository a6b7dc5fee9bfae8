/**
 * The core of edgewright: pure, without I/O, clocks or randomness.
 *
 * Above, for those who route; below, for those who bring snapshots to Envoys of their own.
 */
export {
  apiVersion,
  type AddressRef,
  type Backend,
  defaultDataPlane,
  defaultNamespace,
  type EdgeRoute,
  type EdgeRouteSpec,
  type HeaderChanges,
  type Headers,
  type HeaderValue,
  kind,
  type Match,
  type Metadata,
  type PathMatch,
  type Redirect,
  type Respond,
  type Retries,
  type Rewrite,
  type RouteKey,
  type ServiceRef,
  showKey,
  type Timeouts,
  type ValueMatch,
} from './core/edge-route.js'
export {
  checkSpec,
  type Decoded,
  type DecodeOptions,
  decodeEdgeRoute,
  type Errors,
} from './core/codec.js'
export { type FieldError, showFieldError } from './core/field-error.js'
export {
  type AddressPolicy,
  type Context,
  type DataPlane,
  defaultContext,
  type Endpoint,
  type EndpointSlice,
  type HttpListener,
  type IpFamily,
  type Service,
  type ServicePort,
} from './core/context.js'
export { allowedBy, parseAddressPolicy, whyNeverAllowed } from './core/address-policy.js'
export { decodeEndpointSlice, decodeService } from './core/kubernetes.js'
export { type TableForm, wholeForm } from './core/table-form.js'
export { snapshotOf, translate, type Translation } from './core/translate.js'
export {
  emptyWorld,
  type Translator,
  translator,
  type World,
  type WorldChange,
  worldChange,
} from './core/translator.js'
export type { ListChange } from './core/translator/list-change.js'
export { changedKeys, type OrderedMap, orderedMapOf } from './core/ordered-map.js'
export type { Acceptance, Claim, LostClaim, UnresolvedRef, Verdict } from './core/verdict.js'
export {
  lagGraceMs,
  type ListenerName,
  maxNamedNodes,
  type NamedNodes,
  nextProgrammedTimer,
  nothingProgrammed,
  type Observation,
  type Programmed,
  type ProgrammedState,
  type ProgrammedStep,
  type RefusedBy,
  stepProgrammed,
} from './core/programmed.js'
export {
  type Condition,
  type ConditionType,
  conditionsOf,
  conditionTypes,
  isServed,
  showClaim,
  showNotYet,
  showVerdict,
} from './core/status.js'
export { finalizer, type StoredObject } from './core/stored-object.js'
export {
  type Clear,
  type DeletionFact,
  type DeletionState,
  type DeletionStep,
  type Evidence,
  isInService,
  nextDeletionTimer,
  noteWrite,
  type NotYet,
  settleMs,
  type Sighting,
  stepDeletion,
  wantedWrite,
  type Write,
} from './core/deletion.js'
export {
  breakGlass,
  type DeletionRecord,
  type Deletions,
  type DeletionsStep,
  type EvidenceOf,
  lookAgain,
  nextDeletionsTimer,
  noDeletions,
  noteWritten,
  observe,
  type RecordedFact,
  routesInService,
  type Seen,
} from './core/deletions.js'
export { evidenceOf } from './core/evidence.js'

export {
  danglingRefs,
  type DanglingRef,
  emptySnapshot,
  emptyView,
  type Resources,
  reuse,
  type Snapshot,
  versionOf,
  type View,
  view,
  viewOf,
} from './core/snapshot.js'
export {
  bytesResource,
  type Content,
  encodeContent,
  type Fragment,
  type Ref,
  type Resource,
  type RouteTable,
  type TableHost,
  tableResource,
  type Uid,
} from './core/resource.js'
export {
  diff,
  type Difference,
  digestOf,
  entries,
  fromEntries,
  get,
  type Named,
  type PersistentMap,
  remove,
  set,
  size,
  type Versioned,
} from './core/persistent-map.js'
export {
  clusterType,
  endpointType,
  isFullState,
  isTypeUrl,
  listenerType,
  routeType,
  showTypeUrl,
  type TypeUrl,
  typeUrls,
} from './core/type-url.js'
export type {
  DeltaRequest,
  DiscoveryRequest,
  ErrorDetail,
  NodeIdentity,
  Response,
  SotwRequest,
  Variant,
} from './core/xds/messages.js'
export {
  dataPlaneOf,
  nextTimer,
  openSession,
  type Session,
  type SessionEffect,
  type SessionEvent,
  type SessionOptions,
  type SessionStep,
  step,
} from './core/xds/session.js'
export { warmTimeoutMs } from './core/xds/timers.js'
export { clusterLingerMs } from './core/xds/linger.js'
export type { Holding, Unsure } from './core/xds/holding.js'
export type { NodeMemory } from './core/xds/node-memory.js'
export type { InFlight } from './core/xds/watch.js'
export {
  type Ledger,
  type LedgerNode,
  mayStillServe,
  type Refusal,
  refusalsOf,
} from './core/ledger.js'
export { type Progress, progressOf } from './core/progress.js'
export type { Clock } from './ports/clock.js'
export type { LedgerSource } from './ports/ledger-source.js'
export {
  type Logger,
  type LogLevel,
  logLevels,
  type LogValue,
  silentLogger,
} from './ports/logger.js'
export { type Labels, type Metrics, noMetrics } from './ports/metrics.js'
export type { DeletionProof, Forgetting } from './ports/deletion-proof.js'
export type { RosterError, RosterStore } from './ports/roster-store.js'
export type { RouteStore, WriteError, WriteFailure } from './ports/route-store.js'
export { memoryOf, type Roster, type RosterEntry, rosterOf } from './core/roster.js'
export { decodeRoster, encodeRoster } from './core/roster/codec.js'
export { startWaitMs } from './core/start-gate.js'
export type { RouteSource, SourceError, SourceProblem, SourceState } from './ports/route-source.js'
export type { SnapshotSink } from './ports/snapshot-sink.js'
export type { XdsEvent, XdsObserver } from './ports/xds-observer.js'
