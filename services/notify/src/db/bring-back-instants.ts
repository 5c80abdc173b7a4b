import type { Knex } from 'knex';

/** Longer than any lease. */
const LEASED = `interval '2 minutes'`;
/** The longest pause of an endpoint of MQTT. */
const PAUSED = `interval '5 minutes'`;

/**
 * Makes due what lies further ahead than any lease or pause: it was written while the clock of the database was ahead,
 * and nothing would be done about it until the clock has caught up. Webhooks that have failed wait for hours at times:
 * they keep their time.
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
