/** The text of a flat element of an answer that holds nothing to unescape; undefined when there is none. */
export function xmlElement(text: string, name: string): string | undefined {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]?.trim();
}
