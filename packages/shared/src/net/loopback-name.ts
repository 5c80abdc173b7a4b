const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i;

/** Whether the host of an address, as `URL` writes it, is this machine: `localhost`, 127.0.0.0/8 or `[::1]`. */
export const isLoopbackName = (host: string): boolean => LOOPBACK.test(host);
