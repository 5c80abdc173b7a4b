import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Order } from '../inputs/messages.ts';

/**
 * Sends orders and connected sockets to a reader over the channel of Node.js. That channel buffers without a bound, so
 * the reader's sandbox forbids it to write there: the reader confirms a socket among its facts, and this side passes
 * the confirmation to the channel.
 */
export interface HandOver {
  tell: (order: Order) => void;
  hand: (id: number, socket: Socket) => void;
  /** The reader has the socket. @throws Error when it was given none */
  taken: (id: number) => void;
  /** Lets go of everything that was not taken. */
  end: () => void;
}

export function createHandOver(child: ChildProcess): HandOver {
  const waiting: { id: number; socket: Socket }[] = [];
  // One socket is on its way at a time: the kernel counts unreceived ones against this process.
  let onItsWay: { id: number; socket: Socket } | undefined;
  let isOver = false;

  const tell = (order: Order) => {
    if (!isOver && child.connected) child.send(order, ignoreFailure);
  };
  const handNext = () => {
    onItsWay ??= waiting.shift();
    if (!onItsWay) return;
    const { id, socket } = onItsWay;
    // Node.js would only close its side once the channel says so, and never if the reader dies before.
    const order: Order = { kind: 'connected', id };
    if (child.connected) child.send(order, socket, { keepOpen: true }, () => socket.destroy());
    else socket.destroy();
  };

  return {
    tell,
    hand: (id, socket) => {
      if (isOver) return void socket.destroy();
      waiting.push({ id, socket });
      if (!onItsWay) handNext();
    },
    taken: (id) => {
      if (onItsWay?.id !== id) throw new Error('a socket that was not given');
      onItsWay = undefined;
      child.emit('internalMessage', { cmd: 'NODE_HANDLE_ACK' });
      handNext();
    },
    end: () => {
      isOver = true;
      for (const { socket } of [...waiting.splice(0), ...(onItsWay ? [onItsWay] : [])]) socket.destroy();
      if (child.connected) child.disconnect();
    },
  };
}

/** A reader that is gone takes no orders; its end is noticed elsewhere. */
const ignoreFailure = () => undefined;
