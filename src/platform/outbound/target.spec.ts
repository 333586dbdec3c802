import { findTargetFault, type OutboundPolicy } from './target';

const PUBLIC_ONLY: OutboundPolicy = {
  allowPrivateNetworks: false,
  allowedPorts: [80, 443, 8080, 8443],
};
const PRIVATE_TOO: OutboundPolicy = { allowPrivateNetworks: true, allowedPorts: 'any' };

const ADDRESSES = 'must lead to public addresses only';

describe('a target', () => {
  it.each([
    'https://example.com',
    'http://example.com/hooks?x=1',
    'https://example.com:8443/hooks',
    'http://example.com:8080',
    'https://bücher.example',
    'http://93.184.216.34',
    'http://[2606:4700::1111]:80/',
    'https://localhost.example.com',
    'https://notlocalhost',
  ])('may be %s', (url) => {
    expect(findTargetFault(new URL(url), PUBLIC_ONLY)).toBeNull();
  });

  it.each([
    'http://127.0.0.1',
    'http://127.1',
    'http://127.0.1',
    'http://0x7f.1',
    'http://0X7F.0x0.0x0.0x1',
    'http://0x7f000001',
    'http://017700000001',
    'http://0177.0.0.01',
    'http://2130706433',
    'http://127.0.0.1.',
    'http://0x7f.1.',
    'http://１２７.０.０.１',
    'http://127。0。0。1',
    'http://127．0．0．1',
    'http://①②⑦.⓪.⓪.①',
    'http://%31%32%37.0.0.1',
    'http://127%2e0%2e0%2e1',
    'http://\t127.0\n.0.1',
    'http://0',
    'http://0x',
    'http://00.0',
    'http://localhost',
    'http://LocalHost',
    'http://localhost.',
    'http://ⓛocalhost',
    'http://lo\u{ad}calhost',
    'http://%6cocalhost',
    'http://any.localhost',
    'http://any.localhost.',
    'http://[::1]',
    'http://[0:0:0:0:0:0:0:1]',
    'http://[0000:0000::0001]',
    'http://[::]',
    'http://[::127.0.0.1]',
    'http://[::7f00:1]',
    'http://[::ffff:127.0.0.1]',
    'http://[::FFFF:7F00:1]',
    'http://[0:0:0:0:0:ffff:127.0.0.1]',
    'http://[64:ff9b::127.0.0.1]',
    'http://[2002:7f00:1::]',
    'http://[fe80::1]',
    'http://10.0.0.1',
    'http://169.254.169.254/latest/meta-data/',
    'http://0xa9fea9fe',
    'http://2852039166',
    'http://[::ffff:a9fe:a9fe]',
  ])('may not lead to this machine or network: %j', (url) => {
    expect(findTargetFault(new URL(url), PUBLIC_ONLY)).toBe(ADDRESSES);
  });

  it.each([
    ['ftp://example.com', 'must start with http:// or https://'],
    ['file:///etc/passwd', 'must start with http:// or https://'],
    ['data:text/plain,x', 'must start with http:// or https://'],
    ['unix:/var/run/docker.sock', 'must start with http:// or https://'],
    ['ws://example.com', 'must start with http:// or https://'],
    ['https://ada@example.com', 'must not hold a user name or password'],
    ['https://ada:secret@example.com', 'must not hold a user name or password'],
    ['https://:secret@example.com', 'must not hold a user name or password'],
    ['http://example.com:80@127.0.0.1', 'must not hold a user name or password'],
    ['http://example.com:22', 'must use one of the ports 80, 443, 8080, 8443'],
    ['https://example.com:6379', 'must use one of the ports 80, 443, 8080, 8443'],
    ['https://example.com:0', 'must use one of the ports 80, 443, 8080, 8443'],
  ])('%s %s', (url, fault) => {
    expect(findTargetFault(new URL(url), PUBLIC_ONLY)).toBe(fault);
  });

  it.each([
    'http://127.0.0.1:3000',
    'http://2130706433:22',
    'http://localhost:3000',
    'http://[::1]:3000',
    'http://192.168.0.1',
    'http://[fd12::1]',
    'http://receiver.internal:8000',
  ])('may be %s where private networks are allowed', (url) => {
    expect(findTargetFault(new URL(url), PRIVATE_TOO)).toBeNull();
  });

  it.each([
    ['http://169.254.169.254', 'must lead to public or private addresses only'],
    ['http://[fe80::1]', 'must lead to public or private addresses only'],
    ['http://0.0.0.0', 'must lead to public or private addresses only'],
    ['http://[::ffff:127.0.0.1]', 'must lead to public or private addresses only'],
    ['http://127.0.0.1:0', 'must not use port 0'],
    ['http://ada@127.0.0.1', 'must not hold a user name or password'],
  ])('%s %s, even where private networks are allowed', (url, fault) => {
    expect(findTargetFault(new URL(url), PRIVATE_TOO)).toBe(fault);
  });
});
