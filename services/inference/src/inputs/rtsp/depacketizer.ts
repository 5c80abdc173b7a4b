/** Assembles the payloads of one frame. */
export interface Depacketizer {
  /**
   * @returns false when the payload does not continue the previous one
   * @throws SourceError `codec_unsupported` for formats that are not supported here
   */
  add: (payload: Buffer) => boolean;
  /** The parts of the frame, undefined when it is incomplete. The next payload begins a new frame. */
  take: () => Buffer[] | undefined;
}
