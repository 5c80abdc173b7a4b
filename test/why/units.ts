/** Tenths of a second: what is shorter differs from run to run. */
export const duration = (ms: number): string => (ms < 50 ? '< 0.1 s' : `${(ms / 1_000).toFixed(1)} s`);

export const bytes = (count: number): string => {
  if (count < 1_000) return `${count} bytes`;
  return count < 1_000_000 ? `${Math.round(count / 1_000)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
};
