import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { isLoopbackName } from '@vision/shared/net/loopback-name';
import { openConsoleSession } from '../use-cases/console-session.ts';
import type { Deps } from '../use-cases/deps.ts';
import { networkOfRequest } from './network-of-request.ts';

type SessionDeps = Parameters<typeof openConsoleSession>[0] & Pick<Deps, 'settings'>;

const LOOPBACK = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;
const CODE = /^Console-Code ([\w-]{43})$/;

/**
 * `POST /console/session` with `Authorization: Console-Code <code>` returns a new key. It is for browsers on this
 * machine that load the console from this gateway; for all other clients the address is unknown.
 */
export function consoleSession(deps: SessionDeps): RequestHandler {
  return async (req, res, next) => {
    if (req.method !== 'POST' || req.path !== '/console/session' || !isOfThisMachine(req)) {
      next();
      return;
    }
    res.locals['operation'] = 'createConsoleSession';
    const code = CODE.exec(req.headers.authorization ?? '')?.[1] ?? '';
    const { key, key_id: keyId } = await openConsoleSession(deps, code, networkOfRequest(req, deps.settings));
    res.locals['keyId'] = keyId;
    res.status(201).set('Cache-Control', 'no-store').json({ key });
  };
}

/** Sent by a program on this machine, to an address of this machine, without a proxy, and by no other page. */
function isOfThisMachine(req: IncomingMessage): boolean {
  const { host = '', origin, 'sec-fetch-site': site } = req.headers;
  const { remoteAddress = '', localAddress = '' } = req.socket;
  const isProxied = Object.keys(req.headers).some((name) => /^(x-forwarded-|x-real-ip$|forwarded$|via$)/.test(name));
  return (
    LOOPBACK.test(remoteAddress) &&
    LOOPBACK.test(localAddress) &&
    isLoopbackName(host.replace(/:\d+$/, '')) &&
    !isProxied &&
    (origin === undefined || origin === `http://${host}`) &&
    (site === undefined || site === 'same-origin')
  );
}
