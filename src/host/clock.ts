export { pause, systemClock } from '../ports/clock.js'
