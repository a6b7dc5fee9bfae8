/**
 * Draws panels of `{ title, lines: [{ name, points: [[count, ms], …] }] }` side by side, both axes logarithmic and the
 * same in each panel, as an SVG that suits light and dark pages. The first line of a panel is ours.
 */
export const plot = (panels) => {
  const points = panels.flatMap(({ lines }) => lines.flatMap((line) => line.points))
  const across = scale(
    points.map(([count]) => count),
    0,
    plotWidth,
  )
  const up = scale(wholeDecades(points.map(([, ms]) => ms)), plotHeight, 0)
  const width = panels.length * panelWidth
  const drawn = panels.map((panel, i) => drawPanel(panel, across, up, i * panelWidth))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(panels.map(({ title }) => title).join('; '))}</title>`,
    `<style>${style}</style>`,
    `<rect class="page" width="${width}" height="${height}" rx="6"/>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n')
}

const panelWidth = 456
const height = 320
const margin = { left: 68, top: 56, right: 104, bottom: 44 }
const plotWidth = panelWidth - margin.left - margin.right
const plotHeight = height - margin.top - margin.bottom
/** Two labels at the ends of lines are legible with so much between them. */
const labelGap = 30

const style = `
.page { fill: #ffffff }
text { font: 12px system-ui, sans-serif; fill: #5a5f66 }
.title { font-weight: 600; font-size: 13px; fill: #1f2328 }
.grid { stroke: #e3e6ea; stroke-width: 1 }
.line { fill: none; stroke-width: 2; stroke-linejoin: round }
.ours { stroke: #0969da; fill: #0969da }
.other { stroke: #bc4c00; fill: #bc4c00 }
.line.ours, .line.other { fill: none }
.name { font-weight: 600; stroke: none }
@media (prefers-color-scheme: dark) {
  .page { fill: #0d1117 }
  text { fill: #9aa4af }
  .title { fill: #e6edf3 }
  .grid { stroke: #2a313a }
  .ours { stroke: #58a6ff; fill: #58a6ff }
  .other { stroke: #f0883e; fill: #f0883e }
}
`

const drawPanel = ({ title, lines }, across, up, left) => {
  const { low, high } = across
  const classes = lines.map((_, i) => (i === 0 ? 'ours' : 'other'))
  const ends = apart(lines.map(({ points }) => up.place(points.at(-1)[1])))
  return [
    `<g transform="translate(${left + margin.left} ${margin.top})">`,
    text(-margin.left + 16, -28, title, { class: 'title' }),
    ...decades(up).flatMap((ms) => [
      `<path class="grid" d="M0 ${round(up.place(ms))}H${plotWidth}"/>`,
      text(-8, up.place(ms) + 4, `${show(ms)} ms`, { 'text-anchor': 'end' }),
    ]),
    ...[...decades(across).filter((count) => count > low && count < high), low, high].map((count) =>
      text(across.place(count), plotHeight + 20, show(count), { 'text-anchor': 'middle' }),
    ),
    text(plotWidth / 2, plotHeight + 38, 'routes, on a host each', { 'text-anchor': 'middle' }),
    ...lines.map(({ points }, i) => drawLine(points, classes[i], across, up)),
    ...lines.flatMap(({ name, points }, i) => [
      text(plotWidth + 10, ends[i] - 2, name, { class: `name ${classes[i]}` }),
      text(plotWidth + 10, ends[i] + 13, `${show(points.at(-1)[1])} ms`, {}),
    ]),
    '</g>',
  ].join('\n')
}

const drawLine = (points, kind, across, up) => {
  const places = points.map(([count, ms]) => [round(across.place(count)), round(up.place(ms))])
  const dots = places.map(([x, y]) => `<circle class="${kind}" cx="${x}" cy="${y}" r="3.5"/>`)
  return `<path class="line ${kind}" d="M${places.map((xy) => xy.join(' ')).join('L')}"/>${dots.join('')}`
}

/** Two labels beside one another go apart as far as they must. */
const apart = ([first, second]) => {
  const missing = Math.max(0, labelGap - Math.abs(first - second)) / 2
  return first < second ? [first - missing, second + missing] : [first + missing, second - missing]
}

/** A logarithmic scale from the least to the greatest of some values. */
const scale = (values, from, to) => {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const share = (value) => Math.log(value / low) / Math.log(high / low)
  return { low, high, place: (value) => from + share(value) * (to - from) }
}

const wholeDecades = (values) => [
  10 ** Math.floor(Math.log10(Math.min(...values))),
  10 ** Math.ceil(Math.log10(Math.max(...values))),
]

const decades = ({ low, high }) => {
  const first = Math.ceil(Math.log10(low))
  const last = Math.floor(Math.log10(high))
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i))
}

const text = (x, y, words, attributes) => {
  const all = Object.entries(attributes).map(([name, value]) => ` ${name}="${value}"`)
  return `<text x="${round(x)}" y="${round(y)}"${all.join('')}>${escaped(words)}</text>`
}

const escaped = (words) => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const round = (value) => Math.round(value * 10) / 10

const show = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2)))
