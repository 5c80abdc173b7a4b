import type { Knex } from 'knex';

/** Longer than any lease. */
const LEASED = `interval '2 minutes'`;
/** The longest pause of an MQTT endpoint. */
const PAUSED = `interval '5 minutes'`;

/**
 * Makes rows due that are scheduled later than any lease or pause: they were written while the clock of the database
 * was ahead, and would otherwise wait until the clock has caught up. Failed webhooks may be scheduled hours ahead:
 * their times stay.
 */
export async function bringBackInstants(db: Knex): Promise<void> {
  await db.raw(
    `update webhook_deliveries set lease_until = now()
      where state = 'pending' and failures = 0 and lease_until > now() + ${LEASED}`,
  );
  await db.raw(
    `update mqtt_endpoints
        set lease_until = least(lease_until, now() + ${LEASED}), next_at = least(next_at, now() + ${PAUSED})
      where is_enabled and greatest(lease_until, next_at) > now() + ${LEASED}`,
  );
}
