export { living } from '../../../src/testing/arbitraries/routes.js'
export { routingWorld as world } from '../../../src/testing/arbitraries/world.js'
