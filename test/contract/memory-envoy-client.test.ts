import { startMemoryEnvoy } from '../support/scripted-memory-envoy.js'
import { envoyClientContract } from './envoy-client.js'

for (const seed of [0, 1, 2])
  envoyClientContract(`an Envoy in memory, seed ${seed},`, startMemoryEnvoy(seed))
