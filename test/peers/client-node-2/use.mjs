// Preloaded (node --import), it puts the newest major version of @kubernetes/client-node in place of the one that is
// installed, for this process and those that it starts.
import { registerHooks } from 'node:module'

const installed = new URL('../../../node_modules/@kubernetes/client-node/', import.meta.url).href
const newest = new URL('./node_modules/@kubernetes/client-node/dist/index.js', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) => {
    const resolved = next(specifier, context)
    return resolved.url.startsWith(installed) ? { ...resolved, url: newest } : resolved
  },
})
