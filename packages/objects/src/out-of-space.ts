/** Whether a file could not be written because its file system, or the quota of its owner, is used up. */
export function isOutOfSpace(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return code === 'ENOSPC' || code === 'EDQUOT';
}
