import { createInterface } from 'node:readline'

/** The parent's commands to a process: a JSON object on each line of stdin, answered in their order on stdout. */
export const answerLines = async (answer) => {
  for await (const line of createInterface({ input: process.stdin })) {
    const reply = await Promise.resolve(JSON.parse(line))
      .then(answer)
      .catch((error) => ({ error: error instanceof Error ? error.stack : String(error) }))
    say(reply)
  }
}

export const say = (message) => void process.stdout.write(`${JSON.stringify(message)}\n`)
