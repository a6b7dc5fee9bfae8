import {
  maxBodyBytes,
  maxHeaderNameLength,
  maxHeaderValueBytes,
  maxMatchValueLength,
  maxMethodLength,
  maxPathLength,
  maxQueryNameBytes,
} from '../codec/limits.js'
import { maxDurationLength } from '../duration.js'
import { maxRegexLength } from '../regex.js'
import { matches, rule, type Schema, text, withRules } from './schema.js'

/** What a path may have as it is, beside `/`. */
const plainInPath = "[!$&'()*+,\\-.0-9:;=@A-Z\\[\\]_a-z~]"

/** An escape that stands for none of letters, digits, `-._~` and NUL, in the order of the first digit. */
const escapeInPath = [
  '0[1-9A-Fa-f]',
  '1[0-9A-Fa-f]',
  '2[0-9A-CFa-cf]',
  '3[A-Fa-f]',
  '[46]0',
  '5[B-Eb-e]',
  '7[B-DFb-df]',
  '[89A-Fa-f][0-9A-Fa-f]',
].join('|')

/** A literal path, in the form in which Envoy sees the path of a request. */
export const path = (description: string): Schema =>
  withRules(
    text(description, maxPathLength),
    rule('self.startsWith("/")', 'must start with "/"'),
    rule(`!${matches('[?#]')}`, 'must be a path alone, without "?" and "#"'),
    rule(
      matches(`^(?:/|${plainInPath}|%(?:${escapeInPath}))*$`),
      'must be ASCII in normal form: letters, digits and "-._~" as they are, ' +
        'what has no place in a path percent-encoded',
    ),
    rule(
      `!${matches('//|/[.]{1,2}(?:/|$)')}`,
      'must have no empty, "." or ".." segment: paths are normalised before they are matched',
    ),
  )

/** A regex; what its syntax must be is among what no schema can say. */
export const regex = (description: string): Schema =>
  withRules(
    text(description, maxRegexLength, { minLength: 1 }),
    rule(matches('^[ -~]*$'), 'must be printable ASCII: match other characters by their bytes'),
  )

const token = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"

const headerName = (description: string): Schema =>
  withRules(
    text(description, maxHeaderNameLength),
    rule(matches(token), 'must be the name of a header, such as "x-version"'),
  )

/** The name of a header in a match. */
export const matchedHeader: Schema = withRules(
  headerName('The name of the header, in any case.'),
  rule('self.lowerAscii() != "host"', 'must not be host: use hostnames'),
)

const framing =
  '["connection", "content-length", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]'

/** The name of a header that is set, added or removed. */
export const changedHeader: Schema = withRules(
  headerName('The name of the header, in any case.'),
  rule('self.lowerAscii() != "host"', 'must not be host: use rewrite.host'),
  rule(`!(self.lowerAscii() in ${framing})`, 'must not be a header that belongs to the connection'),
)

/** A value that a header is compared with: a rule over as many of them would cost too much. */
export const headerMatch = (description: string): Schema =>
  text(
    `${description} Visible ASCII, spaces and tabs, without a space at either end.`,
    maxMatchValueLength,
    {
      minLength: 1,
      pattern: '^[!-~](?:[\\t -~]*[!-~])?$',
    },
  )

const asItIsSent = 'is compared as it was sent: write it percent-encoded'

/** The name of a query parameter. */
export const queryName: Schema = withRules(
  // Of ASCII alone, so that bytes are characters.
  text('The name of the query parameter, as it is sent.', maxQueryNameBytes, { minLength: 1 }),
  rule(matches('^[!"$%\'-<>-~]*$'), asItIsSent),
)

/** A value that a query parameter is compared with. */
export const queryMatch = (description: string): Schema =>
  withRules(
    text(description, maxMatchValueLength, { minLength: 1 }),
    rule(matches('^[!"$%\'-~]*$'), asItIsSent),
  )

/** The value of a header that is set or added. Envoy's are format strings, in which a `%` travels as two. */
export const headerValue: Schema = withRules(
  text('The value of the header.', maxHeaderValueBytes),
  rule(
    `bytes(self).size() + self.split("%").size() - 1 <= ${maxHeaderValueBytes}`,
    `must have at most ${maxHeaderValueBytes} bytes, with each "%" as two`,
  ),
  rule(
    `!${matches('[\\x00-\\x08\\x0A-\\x1F\\x7F-\\x9F]')}`,
    'must have no control characters other than tabs',
  ),
)

/** The body of a fixed response. */
export const body: Schema = withRules(
  text('The body of the response; none if absent.', maxBodyBytes),
  rule(`bytes(self).size() <= ${maxBodyBytes}`, `must have at most ${maxBodyBytes} bytes`),
)

/** A method of a request. */
export const method: Schema = withRules(
  text('A method in upper case.', maxMethodLength, { pattern: '^[A-Z][A-Z0-9_-]*$' }),
  rule('self != "CONNECT"', 'must not be CONNECT: it has no path that could be routed'),
)

const number = '(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)'
const isDuration = matches(`^(?:0|\\+?(?:${number}(?:h|m|s|ms|us|\u00b5s|\u03bcs|ns))+)$`)

/** Rounding it up to whole milliseconds changes nothing. */
const isWholeMilliseconds =
  '(duration(self) + duration("999999ns")).getMilliseconds() == duration(self).getMilliseconds()'

/**
 * A Go duration of at most a day, in whole milliseconds. Fractions of seven digits and more are left to the
 * codec: Go reads them in floating point, and would be off by a nanosecond.
 */
export const duration = (description: string): Schema =>
  withRules(
    text(description, maxDurationLength),
    rule(
      `${isDuration} && duration(self) <= duration("24h")`,
      'must be a duration of at most 24h, such as "15s", "250ms" or "1m30s"',
    ),
    rule(
      `!${isDuration} || ${matches('[.][0-9]{7}')} || ${isWholeMilliseconds}`,
      'must be whole milliseconds, such as "250ms"',
    ),
  )
