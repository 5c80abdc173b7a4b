/** Puts the payloads of one picture together. */
export interface Depacketizer {
  /**
   * @returns false when the payload does not continue what came before it
   * @throws SourceError `codec_unsupported` for forms that are not read here
   */
  add: (payload: Buffer) => boolean;
  /** The parts of the picture, undefined when it is not whole. The next payload begins a new picture. */
  take: () => Buffer[] | undefined;
}
