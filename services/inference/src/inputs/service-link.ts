import { addAbortListener } from 'node:events';
import { Socket } from 'node:net';
import { FACT } from './messages.ts';
import type { Fact, Order } from './messages.ts';
import type { Connect } from '@vision/streams/http-get';
import { SourceError } from '@vision/streams/source-error';
import { frameHeader } from '../sandbox/frames.ts';

/** A reader's side of what it and the service say to each other. */
export interface ServiceLink {
  connect: Connect;
  tell: (fact: Fact) => void;
  /** Hears of orders other than answers to `connect`. */
  listen: (onOrder: (order: Exclude<Order, Answer>) => void) => void;
}

type Answer = Extract<Order, { kind: 'connected' | 'refused' }>;

export function createServiceLink(): ServiceLink {
  const waiting = new Map<number, PromiseWithResolvers<Socket>>();
  let lastId = 0;
  // The sandbox lets nothing be written on the channel; a socket that arrived is acknowledged by a fact.
  Reflect.set(process, '_send', () => true);

  const tell = (fact: Fact) => {
    const payload = Buffer.from(JSON.stringify(fact));
    process.stdout.write(Buffer.concat([frameHeader(FACT, payload.length), payload]));
  };

  const answer = (order: Answer, handle: unknown) => {
    const waiter = waiting.get(order.id);
    waiting.delete(order.id);
    const socket = handle instanceof Socket ? handle : undefined;
    if (order.kind === 'connected') tell({ kind: 'taken', id: order.id });
    if (waiter && socket) waiter.resolve(socket);
    else socket?.destroy();
    waiter?.reject(new SourceError(order.kind === 'refused' ? order.reason : 'connection_failed'));
  };

  return {
    tell,
    connect: async ({ host, port }, signal) => {
      lastId += 1;
      const id = lastId;
      const waiter = Promise.withResolvers<Socket>();
      waiting.set(id, waiter);
      const givenUp = addAbortListener(signal, () => {
        waiting.delete(id);
        waiter.reject(new SourceError('connection_failed'));
      });
      tell({ kind: 'connect', id, host, port });
      try {
        const socket = await waiter.promise;
        socket.on('error', () => undefined);
        return socket;
      } finally {
        givenUp[Symbol.dispose]();
      }
    },
    listen: (onOrder) => {
      process.on('message', (order: Order, handle: unknown) => {
        if (order.kind === 'connected' || order.kind === 'refused') answer(order, handle);
        else onOrder(order);
      });
      process.on('disconnect', () => process.exit());
    },
  };
}
