import { readFile, rename, writeFile } from 'node:fs/promises'
import { filesRosterStore } from '../../src/adapters/files/roster-store.js'
import { memoryRosterStore } from '../../src/adapters/memory/roster-store.js'
import { routeDirectory } from './route-directory.js'
import { rosterStoreContract } from './roster-store.js'

rosterStoreContract('memory', () => {
  const store = memoryRosterStore()
  return {
    open: () => store,
    spoil: store.overwrite,
    text: store.text,
    breakSaves: (isBroken) =>
      store.failWith(isBroken ? { only: 'Save', message: 'broken' } : undefined),
  }
})

rosterStoreContract('files', async () => {
  const directory = await routeDirectory()
  const path = directory.at('roster.json')
  return {
    open: () => filesRosterStore({ path }),
    spoil: (text) => writeFile(path, text),
    text: () => readFile(path, 'utf8'),
    breakSaves: (isBroken) =>
      isBroken
        ? rename(directory.path, `${directory.path}-away`)
        : rename(`${directory.path}-away`, directory.path),
  }
})
