/** The results of a run in Markdown; `folder` is where the plot lies, seen from there. */
export const resultsInWords = ({ date, machine, rows }, folder) =>
  [
    `Measured on ${date}, ${machine}; each value is a ratio of medians of one run, our own against what the goal names.`,
    '',
    `![Cost of a change against the number of routes](${folder}cost.svg)`,
    '',
    '| what | goal | measured | holds |',
    '| --- | --- | --- | --- |',
    ...rows.map(({ name, goal, value, holds }) =>
      row(name, goal, showValue(value), holds ? 'yes' : '**no**'),
    ),
    '',
  ].join('\n')

const row = (...cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`

/** Parts read as parts, as the goals do. What could not be measured is a dash. */
export const showValue = (value) => {
  if (!Number.isFinite(value)) return '–'
  if (Number.isInteger(value)) return String(value)
  return value < 0.2 ? `1/${Math.round(1 / value)}` : String(Number(value.toPrecision(3)))
}

const begin = '<!-- bench: begin -->'
const end = '<!-- bench: end -->'

/** A page with these words between its two marks; throws where it has none. */
export const withResults = (page, words) => {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to < from)
    throw new Error(`the page has no place for results: write ${begin} and ${end} into it`)
  return `${page.slice(0, from + begin.length)}\n\n${words}\n${page.slice(to)}`
}
