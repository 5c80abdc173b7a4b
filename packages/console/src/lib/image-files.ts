/** Maximum number of images in a call. */
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
  /** Names of files that an image call does not accept. */
  refused: string[];
  isCut: boolean;
}

/** Adds files to those already chosen, as far as a call accepts them. */
export function chooseImages<F extends Named>(before: readonly F[], added: readonly F[]): Chosen<F> {
  const good = added.filter(({ size, type }) => TYPES.includes(type) && size <= MOST_BYTES);
  const all = [...before, ...good];
  return {
    taken: all.slice(0, MOST_IMAGES),
    refused: added.filter((file) => !good.includes(file)).map(({ name }) => name),
    isCut: all.length > MOST_IMAGES,
  };
}

/**
 * A command line that makes the same call. The key is a variable, so that shell histories do not contain it. Each file
 * has its type, which curl guesses for some types only, and its name in quotes, because curl splits at `;` and `,`.
 */
export function curlOf(origin: string, sceneCode: string, files: readonly Pick<Named, 'name' | 'type'>[]): string {
  const parts = files.map(({ name, type }) => `  -F ${word(`files=@"${escaped(name)}";type=${type}`)}`);
  return [
    `curl ${origin}/v1/vision/image-detections`,
    '  -H "Authorization: Bearer $VISION_API_KEY"',
    '  -H "Idempotency-Key: $(uuidgen)"',
    `  -F scene_code=${sceneCode}`,
    ...parts,
  ].join(' \\\n');
}

/** Escapes a name for curl's quotes. */
const escaped = (name: string) => name.replaceAll(/["\\]/g, (sign) => `\\${sign}`);

/** Quotes any text as one shell word. */
const word = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
