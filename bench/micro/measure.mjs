/** The median time of a piece of work in milliseconds, after three runs that do not count. */
export const median = (runs, work) => {
  const times = []
  for (let i = -3; i < runs; i++) {
    const start = performance.now()
    work()
    if (i >= 0) times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length / 2)]
}

/** Prints rows with the columns of the first one. */
export const table = (rows) => {
  const columns = Object.keys(rows[0])
  const show = (value) =>
    typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(4) : String(value)
  const widths = columns.map((c) => Math.max(c.length, ...rows.map((row) => show(row[c]).length)))
  const line = (cells) => console.log(cells.map((cell, i) => cell.padEnd(widths[i])).join('  '))
  line(columns)
  for (const row of rows) line(columns.map((column) => show(row[column])))
}
