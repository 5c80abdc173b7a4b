import type { ImageSize } from '@vision/contracts/detection';

/** What the structure of an image says about it. */
export interface Inspection extends ImageSize {
  /**
   * Processor time that decoding should take, milliseconds: about what the most expensive images of this structure
   * were measured to take. Only the order of magnitude counts.
   */
  expectedMs: number;
}
