/** What an image call takes. */
const MOST_IMAGES = 10;
const MOST_BYTES = 8 * 1024 * 1024;
const TYPES = ['image/jpeg', 'image/png', 'image/webp'];

interface Named {
  name: string;
  size: number;
  type: string;
}

export interface Chosen<F> {
  taken: F[];
  /** Names of files that an image call does not take. */
  refused: string[];
  isCut: boolean;
}

/** The files that a call takes, after those that are chosen already. */
export function chooseImages<F extends Named>(before: readonly F[], added: readonly F[]): Chosen<F> {
  const good = added.filter(({ size, type }) => TYPES.includes(type) && size <= MOST_BYTES);
  const all = [...before, ...good];
  return {
    taken: all.slice(0, MOST_IMAGES),
    refused: added.filter((file) => !good.includes(file)).map(({ name }) => name),
    isCut: all.length > MOST_IMAGES,
  };
}

/** A command line that makes the same call. The key is a variable, so that it stays out of histories. */
export function curlOf(origin: string, sceneCode: string, names: readonly string[]): string {
  const files = names.map((name) => `  -F files=@${quoted(name)}`);
  return [
    `curl ${origin}/v1/vision/image-detections`,
    '  -H "Authorization: Bearer $VISION_API_KEY"',
    '  -H "Idempotency-Key: $(uuidgen)"',
    `  -F scene_code=${sceneCode}`,
    ...files,
  ].join(' \\\n');
}

/** Quotes a file name as one word of a shell. */
const quoted = (name: string) => (/^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`);
