import { envoyClientContract } from '../contract/envoy-client.js'
import { startRealEnvoy } from '../support/scripted-real-envoy.js'

envoyClientContract('a real Envoy', startRealEnvoy)
