// The oldest browsers that the pages support; make check tests the sources against it with
// eslint. The bundler rewrites newer grammar (bundle.go); this file lists newer APIs.
const compat = require("eslint-plugin-compat");

// In-app browsers are the phone's own: WebKit on iOS, Chrome on Android.
const browsers = [
  "safari >= 15",
  "ios_saf >= 15",
  "chrome >= 100",
  "and_chr >= 100",
  "samsung >= 18",
  "firefox >= 100",
  "and_ff >= 100",
];

// APIs that the pages use only where they exist. TestASellerComesThroughATurnWithWhatIOS15Has
// tests a browser without them.
const looksFirst = [
  "Notification",
  "AudioContext",
  "crypto.randomUUID",
  "navigator.serviceWorker",
  "navigator.wakeLock",
  "navigator.vibrate",
  "navigator.clipboard",
];

// Methods that Safari 15.0 does not have and that the plugin cannot find: a call does
// not show its object's type.
const later =
  "at|findLast|findLastIndex|toReversed|toSorted|toSpliced|with|isWellFormed|toWellFormed|hasOwn|groupBy|" +
  "withResolvers|fromAsync|throwIfAborted|requestSubmit|checkVisibility|showModal|canParse";

module.exports = [
  {
    files: ["**/*.js"],
    languageOptions: { ecmaVersion: "latest", sourceType: "module" },
    plugins: { compat },
    settings: { browsers, polyfills: looksFirst },
    rules: {
      "compat/compat": "error",
      "no-restricted-syntax": [
        "error",
        ...[
          `CallExpression[callee.property.name=/^(${later})$/]`,
          "CallExpression[callee.object.name='AbortSignal'][callee.property.name=/^(timeout|any)$/]",
        ].map((selector) => ({
          selector,
          message:
            "missing in browsers that the pages are for: test for it, and mark the line by eslint-disable",
        })),
      ],
    },
  },
];
