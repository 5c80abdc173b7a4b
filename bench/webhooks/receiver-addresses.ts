/** Requests to this path are accepted and never answered. */
export const HANG_PATH = '/hang';

/** Loopback address of the receiver with this number: a host of its own for the sender. */
export const addressOf = (number: number): string => `127.0.${1 + Math.floor(number / 200)}.${1 + (number % 200)}`;
