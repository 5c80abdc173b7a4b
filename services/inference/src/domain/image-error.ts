/** Reason for refusing an image. */
export type ImageFault = 'not_an_image' | 'too_many_pixels' | 'not_decodable';

/** The image itself is at fault: a retry with the same bytes fails again. */
export class ImageRefusedError extends Error {
  override readonly name = 'ImageRefusedError';
  readonly reason: ImageFault;
  /** Processor time that was spent before it was refused, milliseconds. */
  readonly cpuMs: number;

  constructor(reason: ImageFault, cause?: unknown, cpuMs = 0) {
    super(`image refused: ${reason}`, { cause });
    this.reason = reason;
    this.cpuMs = cpuMs;
  }
}
