// Runs the micro-benchmarks, one after the other: `npm run bench -- micro`.
await import('./persistent-map.mjs')
await import('./ledger.mjs')
