/** Why an address may not be connected to, or could not be found. */
export type AddressFault =
  | 'address_forbidden'
  | 'port_forbidden'
  /** The name servers say that there is no such name, or no address for it. */
  | 'name_unknown'
  /** The name servers do not answer in time. */
  | 'resolve_timeout'
  /** The name servers are not reached, or fail. */
  | 'resolve_failed';

/** A host that may not be reached or does not exist; the message holds no host name. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
  readonly fault: AddressFault;

  constructor(fault: AddressFault, cause?: unknown) {
    super(`host refused: ${fault}`, cause === undefined ? undefined : { cause });
    this.fault = fault;
  }
}
