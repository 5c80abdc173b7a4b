/** Why an address may not be connected to, or could not be found. */
export type AddressFault = 'address_forbidden' | 'port_forbidden' | 'name_unknown' | 'resolve_timeout';

/** A host that may not be reached or does not exist; the message holds no host name. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
  readonly fault: AddressFault;

  constructor(fault: AddressFault, cause?: unknown) {
    super(`host refused: ${fault}`, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}
