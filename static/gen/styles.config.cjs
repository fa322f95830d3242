// The browsers of the contract again, for styles: make check tests the sources against them with stylelint.
// Such a browser drops a whole rule for one selector that it does not know.
const [{ settings }] = require("./compat.config.cjs");

// Without these the pages look plainer, and nothing is lost. Each value has an older one before it where it
// decides a size.
const plainer = [
  "css-containment",
  "css-focus-visible",
  "css-media-scripting",
  "css-overscroll-behavior",
  "css-resize",
  "css-scroll-behavior",
  "css-scrollbar",
  "css-touch-action",
  "css3-cursors",
  "extended-system-fonts",
  "text-size-adjust",
  "viewport-unit-variants",
];

module.exports = {
  plugins: ["stylelint-no-unsupported-browser-features"],
  rules: {
    "plugin/no-unsupported-browser-features": [
      true,
      { browsers: settings.browsers, ignore: plainer, ignorePartialSupport: true },
    ],
    // The plugin does not know these. States are attributes of body instead.
    "selector-pseudo-class-disallowed-list": ["modal", "open", "popover-open", "state", "user-invalid", "user-valid"],
  },
};
