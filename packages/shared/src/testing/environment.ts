/** Address of a part of the test infrastructure, as the test script writes it into the environment. */
export function testAddress(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(
      `${name} is not set: run the tests with "make test", or start the infrastructure with "make test-infra"`,
    );
  return value;
}
