import { z } from 'zod';

/**
 * Text of a caller that is stored. PostgreSQL stores no NUL character, and JSON in it no half of a surrogate pair.
 */
export const storedText = (maxLength: number) =>
  z
    .string()
    .max(maxLength)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), {
      error: 'Send text without NUL characters and half surrogate pairs',
    });
