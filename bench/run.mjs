// Runs every benchmark, one after the other: `npm run bench`.
await import('./persistent-map.mjs')
await import('./ledger.mjs')
