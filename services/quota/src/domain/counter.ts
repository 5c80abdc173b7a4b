import type { QuotaKind } from '@vision/contracts/quota';

/** One day of one quota of a subject. */
export interface CounterRef {
  subject: string;
  kind: QuotaKind;
  /** `YYYY-MM-DD` in UTC+8. */
  day: string;
}

/** `2026-03-15/video/acme`; a subject may hold anything, so it stands last. */
export const nameOfCounter = ({ subject, kind, day }: CounterRef): string => `${day}/${kind}/${subject}`;

/** Parses a name from `nameOfCounter`. */
export function counterOf(name: string): CounterRef {
  const [, day = '', kind, subject = ''] = /^([^/]*)\/([^/]*)\/(.*)$/s.exec(name) ?? [];
  return { subject, kind: kind === 'image' ? 'image' : 'video', day };
}
