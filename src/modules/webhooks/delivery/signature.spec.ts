import { Webhook } from 'standardwebhooks';
import { signatureHeader } from './signature';

describe('the signature of Standard Webhooks', () => {
  const published = {
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
  };

  it.each([
    ['{"test": 2432232314}', 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='],
    ['', 'v1,v48jdbgvh29KJz2Qc+ghw8G6vG3nAKnujWBg8oM/62A='],
  ])('is the published one for the body %j', (body, signature) => {
    expect(signatureHeader({ ...published, body }, [published.secret])).toBe(signature);
  });

  it('is made with every good secret, and accepted by a receiver that has any of them', () => {
    const secrets = [1, 2, 3].map((fill) => `whsec_${Buffer.alloc(32, fill).toString('base64')}`);
    const body = '{"name":"Zoë ☕"}';
    const timestamp = Math.floor(Date.now() / 1_000);
    const header = signatureHeader({ id: 'evt_1', timestamp, body }, secrets);
    expect(header.split(' ')).toHaveLength(3);
    for (const secret of secrets) {
      const verified = new Webhook(secret).verify(body, {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(timestamp),
        'webhook-signature': header,
      });
      expect(verified).toEqual({ name: 'Zoë ☕' });
    }
  });
});
