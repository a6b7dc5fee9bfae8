import { type Logger, type LogLevel, logLevels } from '../../ports/logger.js'
import { jsonLogger, textLogger } from '../logger.js'
import type { Option } from './command.js'
import type { World } from './world.js'

export const logFormats = ['text', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

export const logLevelOption: Option = {
  name: 'log-level',
  value: logLevels.join('|'),
  fallback: 'info',
  help: 'the least level that is logged',
}

export const logFormatOption: Option = {
  name: 'log-format',
  value: logFormats.join('|'),
  fallback: 'text',
  help: 'lines for people, or one JSON object per line',
}

/** A logger on the standard error. */
export const loggerOf = (world: World, level: LogLevel, format: LogFormat): Logger => {
  const write = (line: string): void => world.err(`${line}\n`)
  return format === 'json'
    ? jsonLogger(write, { level })
    : textLogger(write, { level, color: world.color })
}
