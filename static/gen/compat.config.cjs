// Which browsers the pages are for, as the contract says in its part on pages: make check holds the sources to it with eslint. What is
// later in the language's grammar the bundler rewrites (bundle.go); here is what is later in what browsers bring along.
const compat = require("eslint-plugin-compat");

// In-app browsers are the phone's own: WebKit on iOS, Chrome on Android.
const browsers = ["safari >= 15", "ios_saf >= 15", "chrome >= 100", "and_chr >= 100", "samsung >= 18", "firefox >= 100", "and_ff >= 100"];

// What is used only where it is there. What happens where it is not, TestASellerComesThroughATurnWithWhatIOS15Has tries.
const looksFirst = ["Notification", "AudioContext", "crypto.randomUUID", "navigator.serviceWorker", "navigator.wakeLock", "navigator.vibrate", "navigator.clipboard"];

// Methods that Safari 15.0 does not have, which the plugin does not look for: nothing says whose they are.
const later = "at|findLast|findLastIndex|toReversed|toSorted|toSpliced|with|isWellFormed|toWellFormed|hasOwn|groupBy|withResolvers|fromAsync|throwIfAborted|requestSubmit|checkVisibility|showModal|canParse";

module.exports = [
  {
    files: ["**/*.js"],
    languageOptions: { ecmaVersion: "latest", sourceType: "module" },
    plugins: { compat },
    settings: { browsers, polyfills: looksFirst },
    rules: {
      "compat/compat": "error",
      "no-restricted-syntax": ["error", ...[
        `CallExpression[callee.property.name=/^(${later})$/]`,
        "CallExpression[callee.object.name='AbortSignal'][callee.property.name=/^(timeout|any)$/]",
      ].map((selector) => ({ selector, message: "not in every browser that the pages are for: look whether it is there, and say so by eslint-disable" }))],
    },
  },
];
