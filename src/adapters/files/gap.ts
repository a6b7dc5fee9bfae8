/** A part of the directory at which nobody can look: what it had may still be there. */
export interface Gap {
  /** A path relative to the directory; empty for the directory itself. */
  readonly path: string
  readonly message: string
}

/** True for the paths of all that may be in a gap. */
export const covers = (gap: Gap, path: string): boolean =>
  gap.path === '' || path.startsWith(`${gap.path}/`)
