import type { SecretBox } from '@vision/shared/secret-box';

/** What of an endpoint is encrypted. A box opens for its own endpoint and purpose only. */
export type BoxPurpose = 'url' | 'secret';

const contextOf = (endpointKey: string, purpose: BoxPurpose) => `webhook ${purpose} ${endpointKey}`;

export const sealFor = (box: SecretBox, endpointKey: string, purpose: BoxPurpose, text: string): Buffer =>
  box.seal(text, contextOf(endpointKey, purpose));

/** @throws Error when the key of the box is not known any more. */
export const openOf = (box: SecretBox, endpointKey: string, purpose: BoxPurpose, sealed: Buffer): string =>
  box.open(sealed, contextOf(endpointKey, purpose));
