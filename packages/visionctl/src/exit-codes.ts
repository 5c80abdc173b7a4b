/** What the program ends with; scripts go by it. */
export const exitCodes = [
  { code: 0, means: 'done, and all is well' },
  { code: 1, means: 'refused or failed, or what was checked is not well' },
  { code: 2, means: 'the command line or the settings are wrong; nothing was asked' },
  { code: 3, means: 'the admin API gave no answer' },
] as const;
