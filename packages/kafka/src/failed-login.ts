import SaslAuthenticator from 'kafkajs/src/broker/saslAuthenticator/index.js';

/**
 * Ends a connection of kafkajs whose login failed. Version 2.2.4 keeps one that logged in before, as when there is no
 * token at the end of its session. The broker has had the beginning of a login, so the beginning of another is an
 * illegal state, for which a consumer ends for good. Importing this is enough.
 */
const { authenticate } = SaslAuthenticator.prototype;
SaslAuthenticator.prototype.authenticate = async function endingTheConnection() {
  try {
    await authenticate.call(this);
  } catch (error) {
    await this.connection.disconnect();
    throw error;
  }
};
