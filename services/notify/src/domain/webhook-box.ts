import type { SecretBox } from '@vision/shared/secret-box';

/** Encrypted parts of an endpoint. A box can be opened for its own endpoint and purpose only. */
export type BoxPurpose = 'url' | 'secret';

const contextOf = (endpointKey: string, purpose: BoxPurpose) => `webhook ${purpose} ${endpointKey}`;

export const sealFor = (box: SecretBox, endpointKey: string, purpose: BoxPurpose, text: string): Buffer =>
  box.seal(text, contextOf(endpointKey, purpose));

/** @throws Error when the key of the box is unknown. */
export const openOf = (box: SecretBox, endpointKey: string, purpose: BoxPurpose, sealed: Buffer): string =>
  box.open(sealed, contextOf(endpointKey, purpose));
