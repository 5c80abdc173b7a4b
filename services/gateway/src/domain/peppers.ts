/** Secrets mixed into key digests, by version. A stolen table is worthless without them. */
export interface Peppers {
  /** Version for new digests. */
  current: number;
  byVersion: Map<number, Buffer>;
}

/**
 * Reads `"2:<base64>,1:<base64>"`; the first entry is the current one, each holds at least 32 bytes.
 * @throws Error that names the position, never the value.
 */
export function parsePeppers(text: string): Peppers {
  const byVersion = new Map<number, Buffer>();
  const entries = text.split(',').map((entry) => entry.trim());
  entries.forEach((entry, index) => {
    const [, version, encoded] = /^(\d{1,6}):([A-Za-z0-9+/_-]+={0,2})$/.exec(entry) ?? [];
    const pepper = Buffer.from(encoded ?? '', 'base64');
    if (version === undefined || pepper.length < 32) {
      throw new Error(`entry ${index + 1} of API_KEY_PEPPERS is not "<version>:<base64 of 32 bytes>"`);
    }
    if (byVersion.has(Number(version))) throw new Error(`version ${version} stands twice in API_KEY_PEPPERS`);
    byVersion.set(Number(version), pepper);
  });
  return { current: [...byVersion.keys()][0] ?? 0, byVersion };
}
