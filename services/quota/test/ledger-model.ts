import { expect } from '@jest/globals';
import type fc from 'fast-check';
import type { Knex } from 'knex';
import type { QuotaKind } from '@vision/contracts/quota';
import { closeReservation, reserveUnits } from '../src/db/ledger.ts';
import type { CloseRow, ReserveRow } from '../src/db/ledger.ts';
import type { Closing, Reservation } from '../src/domain/reservation.ts';
import { atTime } from './support.ts';

interface Entry {
  subject: string;
  state: 'open' | 'settled' | 'refunded' | 'closed';
  key?: string;
  kind?: QuotaKind;
  day?: string;
  units: number;
  charged: number;
}

/** The expected ledger, in a few lines of plain code. */
export class Model {
  readonly entries = new Map<string, Entry>();
  clock = Date.parse('2031-03-01T22:30:00+08:00');

  today(): string {
    return new Date(this.clock + 8 * 3_600_000).toISOString().slice(0, 10);
  }

  used(subject: string, kind: QuotaKind, day: string): number {
    const counted = [...this.entries.values()].filter((e) => e.subject === subject && e.kind === kind && e.day === day);
    return counted.reduce((sum, { charged }) => sum + charged, 0);
  }

  reserve({ id, subject, idempotencyKey: key, kind, units, limit }: Reservation): Partial<ReserveRow> {
    const known = this.entries.get(id);
    if (known) {
      if (known.subject === subject && known.state === 'closed') return { outcome: 'closed' };
      const isSame = known.subject === subject && known.key === key && known.kind === kind && known.units === units;
      if (!isSame) return { outcome: 'differs' };
      return { outcome: known.state === 'open' ? 'granted' : 'closed' };
    }
    const standing = [...this.entries.values()].filter((e) => e.state === 'open' || e.state === 'settled');
    if (standing.some((e) => e.subject === subject && e.key === key && e.kind !== kind)) return { outcome: 'conflict' };
    const used = this.used(subject, kind, this.today());
    if (used + units > limit) return { outcome: 'exhausted', used };
    this.entries.set(id, { subject, state: 'open', key, kind, day: this.today(), units, charged: units });
    return { outcome: 'granted' };
  }

  close({ id, subject }: { id: string; subject: string }, closing: Closing): Partial<CloseRow> {
    const known = this.entries.get(id);
    if (!known) {
      this.entries.set(id, { subject, state: 'closed', units: 0, charged: 0 });
      return { outcome: 'done', charged: 0 };
    }
    if (known.subject !== subject) return { outcome: 'differs' };
    if (known.state !== 'open') return { outcome: 'done', charged: known.charged };
    if (closing.units > known.units) return { outcome: 'differs' };
    Object.assign(known, { state: closing.state, charged: closing.units });
    return { outcome: 'done', charged: closing.units };
  }
}

type LedgerCommand = fc.AsyncCommand<Model, Knex>;

export class Reserve implements LedgerCommand {
  readonly input: Reservation;
  constructor(input: Reservation) {
    this.input = input;
  }
  check = () => true;
  async run(model: Model, db: Knex): Promise<void> {
    const expected = model.reserve(this.input);
    expect(await at(model, db, (tx) => reserveUnits(tx, this.input))).toMatchObject(expected);
  }
  toString = () => `reserve(${JSON.stringify(this.input)})`;
}

export class Close implements LedgerCommand {
  readonly reservation: { id: string; subject: string };
  readonly closing: Closing;
  constructor(reservation: { id: string; subject: string }, closing: Closing) {
    this.reservation = reservation;
    this.closing = closing;
  }
  check = () => true;
  async run(model: Model, db: Knex): Promise<void> {
    const expected = model.close(this.reservation, this.closing);
    expect(await at(model, db, (tx) => closeReservation(tx, this.reservation, this.closing))).toMatchObject(expected);
  }
  toString = () => `close(${JSON.stringify(this.reservation)}, ${JSON.stringify(this.closing)})`;
}

/** A reserve and a refund of it that overlap: in either order, nothing stays charged. */
export class ReserveAgainstRefund implements LedgerCommand {
  readonly input: Reservation;
  constructor(input: Reservation) {
    this.input = input;
  }
  check = (model: Readonly<Model>) => !model.entries.has(this.input.id);
  async run(model: Model, db: Knex): Promise<void> {
    const refund: Closing = { state: 'refunded', units: 0 };
    await Promise.all([
      at(model, db, (tx) => reserveUnits(tx, this.input)),
      at(model, db, (tx) => closeReservation(tx, this.input, refund)),
    ]);
    const row: Entry = await db('reservations').where({ id: this.input.id }).first('state', 'charged');
    expect(row.charged).toBe(0);
    if (row.state === 'refunded') expect(model.reserve(this.input)).toMatchObject({ outcome: 'granted' });
    model.close(this.input, refund);
    expect(model.entries.get(this.input.id)?.state).toBe(row.state);
  }
  toString = () => `reserveAgainstRefund(${JSON.stringify(this.input)})`;
}

export class PassTime implements LedgerCommand {
  readonly minutes: number;
  constructor(minutes: number) {
    this.minutes = minutes;
  }
  check = () => true;
  async run(model: Model): Promise<void> {
    model.clock += this.minutes * 60_000;
  }
  toString = () => `passTime(${this.minutes} min)`;
}

const at = <T>(model: Model, db: Knex, work: (tx: Knex) => Promise<T>) =>
  atTime(db, new Date(model.clock).toISOString(), work);
