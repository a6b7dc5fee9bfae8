import type { Stage } from './check.js'

/** What to try while the demo runs; each line can be pasted into a shell. */
export const guide = ({ url, directory }: Stage): string => `
Try it, in another terminal:

  curl ${url}/shop
  curl ${url}/blog
  curl -i ${url}/shopping    # 404: a prefix ends at a path element

Add a route, here a second one to the shop; a moment later it answers:

  sed s/shop/store/ ${directory}/shop.yaml > ${directory}/store.yaml
  curl ${url}/store

Remove one, and a moment later its prefix answers 404:

  rm ${directory}/shop.yaml
  curl -i ${url}/shop

Ctrl-C ends everything.
`
