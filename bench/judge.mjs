/** A goal that is met by this number and all below it; `of` says what it is a number of. */
export const atMost = (limit, of) => ({
  text: `at most ${showLimit(limit)} ${of}`,
  holds: (value) => value <= limit,
})

/** A goal that is met by this number and all above it. */
export const atLeast = (limit, of) => ({
  text: `at least ${showLimit(limit)} ${of}`,
  holds: (value) => value >= limit,
})

/** What is asked for as a part reads as one. */
const showLimit = (limit) =>
  limit < 1 && Number.isInteger(1 / limit) ? `1/${1 / limit}` : String(limit)

/** The row of what was measured. A value that is no number meets no goal. */
export const judge = ({ name, goal }, { value, detail }) => ({
  name,
  goal: goal.text,
  value,
  holds: Number.isFinite(value) && goal.holds(value),
  detail,
})

/** A row as `--json` writes it. */
export const plain = ({ name, goal, value, holds }) => ({ name, goal, value, holds })
